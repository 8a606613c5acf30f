"""What kerazoo has to know of one kind of model in Hugging Face's folders."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kerazoo.conversion.name_map import NameMap


@dataclass(frozen=True)
class ConfigTable:
    """The fields of `config.json` and those of kerazoo's config dataclass.

    Args:
        fields: for each field of the dataclass, `config.json`'s and the number that an absent one
            means.
        activation_key: `config.json`'s field for the activation.
        default_activation: what it means if it is absent.
        activations: the activations that kerazoo computes: `config.json`'s name and kerazoo's.
        activation_names: kerazoo's name and the one that is written.
        fixed: fields of the dataclass that the kind of model decides.
        required: fields of `config.json` with the value that kerazoo computes, and a sentence that
            says so for any other; an absent field has that value.
        quadruple: whether the feed-forward networks are four times as wide as the states unless
            `inner_key` says otherwise.
        inner_key: `config.json`'s field for that width, which may be null; None if there is none.
        dropout_keys: further fields of `config.json` that hold the dropout rate.
        written: what else a written `config.json` says.
    """

    fields: Mapping[str, tuple[str, int | float]]
    activation_key: str
    default_activation: str
    activations: Mapping[str, str]
    activation_names: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[tuple[str, Any, str], ...] = ()
    quadruple: bool = False
    inner_key: str | None = None
    dropout_keys: tuple[str, ...] = ()
    written: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TiedTensor:
    """A tensor that kerazoo reads as another one, so that both must be equal.

    Args:
        name: its name.
        equal_to: the name of the other one.
        needed_by: path of a variable; only a model that has it computes with the tensor. None if
            every model does.
    """

    name: str
    equal_to: str
    needed_by: str | None = None


@dataclass(frozen=True)
class ModelType:
    """One `model_type` of Hugging Face: its config, its tensors and its classes.

    Args:
        name: the `model_type` in `config.json`.
        title: the name for people.
        family: kerazoo's family, "bert" or "gpt".
        config: the table of its config.
        prefix: what the backbone's names begin with in a model that has a head.
        backbone_names: the rules of the backbone's weights.
        head_names: the rules of the heads that kerazoo has too.
        ignored: names of constants, with `{i}` for the layer number, that are no weights.
        tied: the output matrix and whatever else is another tensor once more.
        architectures: for each task that can be written, transformers' class; under None that of
            the bare backbone.
        read_architectures: transformers' classes that are read as a task, by its name.
        optional_targets: variable paths of the backbone that may be absent, all together, in
            folders of `architectures_without_optional`.
        architectures_without_optional: transformers' classes that are built without them.
    """

    name: str
    title: str
    family: str
    config: ConfigTable
    prefix: str
    backbone_names: NameMap
    head_names: NameMap
    ignored: frozenset[str]
    architectures: Mapping[str | None, str]
    read_architectures: Mapping[str, frozenset[str]]
    tied: tuple[TiedTensor, ...] = ()
    optional_targets: tuple[str, ...] = ()
    architectures_without_optional: frozenset[str] = frozenset()
