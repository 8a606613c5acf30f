"""What rows are made for."""

BERT = "bert"
"""Pairs of texts: masked language model and next sentence."""

BERT_MLM = "bert-mlm"
"""Full sentences: masked language model."""

GPT = "gpt"
"""Documents joined by the end token: causal language model."""

OBJECTIVES = (BERT, BERT_MLM, GPT)
