"""Check that the inputs and outputs of each signature are what a server can read and write."""

from collections.abc import Iterable, Iterator

from kerazoo.export.signatures import Signature, SignatureTensor
from kerazoo.export.verification_report import Check, Status

# The types for which the server's JSON writer and reader have code.
JSON_DTYPES = frozenset(
    {"float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"}
    | {"bool", "string"}
)


def check_signatures(signatures: dict[str, Signature]) -> list[Check]:
    """Checks the signature table of a SavedModel.

    Args:
        signatures: The signatures by name.

    Returns:
        Two checks, of the inputs and of the outputs.
    """
    if not signatures:
        message = "The SavedModel has no signature, so nothing can be asked; export with one."
        return [Check("signatures", Status.FAILED, message)]
    return [_check_inputs(signatures), _check_outputs(signatures)]


def _check_inputs(signatures: dict[str, Signature]) -> Check:
    faults = [fault for signature in signatures.values() for fault in _input_faults(signature)]
    if faults:
        return Check("inputs", Status.FAILED, _join(faults))
    open_inputs = [
        f"{signature.name}.{tensor.name}"
        for signature in signatures.values()
        for tensor in signature.inputs.values()
        if tensor.shape and None in tensor.shape[1:]
    ]
    if open_inputs:
        message = (
            f"{', '.join(open_inputs)}: the width is open, so rows of different length cannot "
            "share a request or a server's batch; pad to one fixed width."
        )
        return Check("inputs", Status.WARNING, message)
    return Check("inputs", Status.OK, "Every signature has inputs, with an open batch dimension.")


def _input_faults(signature: Signature) -> Iterator[str]:
    if not signature.inputs:
        yield (
            f"Signature '{signature.name}' has no input, and a request needs one; give the "
            "function an input, even if it is only used for its size."
        )
    yield from _tensor_faults(signature, "input", signature.inputs.values())


def _check_outputs(signatures: dict[str, Signature]) -> Check:
    faults = [fault for signature in signatures.values() for fault in _output_faults(signature)]
    if faults:
        return Check("outputs", Status.FAILED, _join(faults))
    return Check(
        "outputs",
        Status.OK,
        "Every output is dense, has a batch dimension and a type JSON can hold.",
    )


def _output_faults(signature: Signature) -> Iterator[str]:
    if not signature.outputs:
        yield f"Signature '{signature.name}' has no output; return a dict of tensors."
    yield from _tensor_faults(signature, "output", signature.outputs.values())


def _tensor_faults(
    signature: Signature, kind: str, tensors: Iterable[SignatureTensor]
) -> Iterator[str]:
    for tensor in tensors:
        fault = _tensor_fault(tensor)
        if fault:
            yield f"{kind.capitalize()} '{tensor.name}' of signature '{signature.name}' {fault}"


def _tensor_fault(tensor: SignatureTensor) -> str | None:
    """Says what keeps a tensor out of a request or an answer, in the words after its name."""
    if not tensor.is_dense:
        return "is ragged or sparse; make it dense with to_tensor(shape=[None, width])."
    if tensor.dtype not in JSON_DTYPES:
        return f"is {tensor.dtype}, which JSON cannot hold; cast it (floats to float32)."
    if tensor.shape is None:
        return "has no known rank; set it with tf.ensure_shape(x, [None, …])."
    if not tensor.shape:
        return "is a scalar; give it a batch dimension, one value a row."
    if tensor.shape[0] is not None:
        return (
            f"has a first dimension of {tensor.shape[0]}, where the batch must be; make it None, "
            "one value or vector a row."
        )
    return None


def _join(faults: list[str], limit: int = 4) -> str:
    more = f" And {len(faults) - limit} more." if len(faults) > limit else ""
    return " ".join(faults[:limit]) + more
