import pytest

from kerazoo.conversion.bert_names import (
    ARCHITECTURES_WITHOUT_POOLER,
    GOOGLE_BACKBONE,
    GOOGLE_HEADS,
    HUGGINGFACE_BACKBONE,
    HUGGINGFACE_HEADS,
)


def test_huggingface_names_are_those_written_by_hand(pairs):
    for name, path, _ in pairs:
        assert HUGGINGFACE_BACKBONE.to_targets(name) == (path,)
        assert HUGGINGFACE_BACKBONE.to_source(path) == name
        assert HUGGINGFACE_BACKBONE.rule_for_target(path).transpose == path.endswith("kernel")
    assert len(HUGGINGFACE_BACKBONE.rules) == 5 + 16 + 2


@pytest.mark.parametrize(
    "table", [HUGGINGFACE_BACKBONE + HUGGINGFACE_HEADS, GOOGLE_BACKBONE + GOOGLE_HEADS]
)
def test_every_rule_is_reversible_for_every_layer(table):
    for rule in table.rules:
        for layer in ("0", "9", "23"):
            source, target = (n.replace("{i}", layer) for n in (rule.source, rule.target))
            assert table.to_targets(source) == (target,)
            assert table.to_source(target) == source


def test_google_names_are_those_of_the_released_checkpoints():
    names = {
        "embeddings/word_embeddings": "embeddings/token_embedding/embeddings",
        "embeddings/token_type_embeddings": "embeddings/segment_embedding/embeddings",
        "embeddings/position_embeddings": "embeddings/position_embedding/embeddings",
        "embeddings/LayerNorm/gamma": "embeddings/layer_norm/gamma",
        "encoder/layer_3/attention/self/key/kernel": "layer_3/attention/key/kernel",
        "encoder/layer_3/attention/output/dense/bias": "layer_3/attention/attention_output/bias",
        "encoder/layer_3/attention/output/LayerNorm/beta": "layer_3/attention_layer_norm/beta",
        "encoder/layer_3/intermediate/dense/kernel": "layer_3/feed_forward/intermediate/kernel",
        "encoder/layer_3/output/dense/kernel": "layer_3/feed_forward/feed_forward_output/kernel",
        "encoder/layer_3/output/LayerNorm/gamma": "layer_3/feed_forward_layer_norm/gamma",
        "pooler/dense/kernel": "pooler/dense/kernel",
    }
    for source, target in names.items():
        assert GOOGLE_BACKBONE.to_targets(source) == (target,)
        assert not GOOGLE_BACKBONE.rule_for_target(target).transpose
    assert GOOGLE_HEADS.rule_for_target("classifier/kernel").transpose


def test_googles_heads_of_pretraining_are_those_of_run_pretraining():
    names = {
        "cls/predictions/transform/dense/kernel": "masked_lm/dense/kernel",
        "cls/predictions/transform/dense/bias": "masked_lm/dense/bias",
        "cls/predictions/transform/LayerNorm/gamma": "masked_lm/layer_norm/gamma",
        "cls/predictions/transform/LayerNorm/beta": "masked_lm/layer_norm/beta",
        "cls/predictions/output_bias": "masked_lm/bias",
        "cls/seq_relationship/output_weights": "next_sentence/kernel",
        "cls/seq_relationship/output_bias": "next_sentence/bias",
    }
    for source, target in names.items():
        assert GOOGLE_HEADS.to_targets(source) == (target,)
        transposed = source == "cls/seq_relationship/output_weights"
        assert GOOGLE_HEADS.rule_for_target(target).transpose == transposed


def test_the_head_tables_cover_exactly_the_heads(make_tiny_bert_pretrainer):
    task = make_tiny_bert_pretrainer()
    backbone = {variable.path for variable in task.backbone.weights}
    heads = {variable.path for variable in task.weights} - backbone
    others = ("classifier", "span_head/")  # of fine-tuned tasks
    for table in (HUGGINGFACE_HEADS, GOOGLE_HEADS):
        known = {rule.target for rule in table.rules if not rule.target.startswith(others)}
        assert known == heads


def test_the_tables_cover_exactly_the_variables_of_the_backbone(tiny_backbone, pairs):
    paths = {variable.path for variable in tiny_backbone.weights}
    assert paths == {path for _, path, _ in pairs}
    assert all(GOOGLE_BACKBONE.to_source(path) for path in paths)


@pytest.mark.transformers
def test_the_tables_cover_exactly_the_parameters_of_transformers(config):
    import transformers

    model = transformers.BertForSequenceClassification(transformers.BertConfig(**config))
    for name in model.state_dict():
        table = HUGGINGFACE_BACKBONE if name.startswith("bert.") else HUGGINGFACE_HEADS
        assert table.to_targets(name.removeprefix("bert.")), name


@pytest.mark.transformers
def test_the_tables_cover_exactly_the_parameters_of_pretraining(config):
    import transformers

    model = transformers.BertForPreTraining(transformers.BertConfig(**config))
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    names = {name for name in model.state_dict() if name.startswith("cls.")} - tied
    assert names == {r.source for r in HUGGINGFACE_HEADS.rules if r.source.startswith("cls.")}


@pytest.mark.transformers
@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES_WITHOUT_POOLER))
def test_these_architectures_have_no_pooler(config, architecture):
    import transformers

    settings = transformers.BertConfig(**config, is_decoder=architecture == "BertLMHeadModel")
    model = getattr(transformers, architecture)(settings)
    assert not [name for name in model.state_dict() if "pooler" in name]
