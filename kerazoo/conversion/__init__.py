"""Checkpoints of other projects: reading them into kerazoo's models, and writing them back.

The way in:

    source = open_checkpoint("folder or hf://organisation/name")    # conversion.source
    source.format                     "kerazoo" | "huggingface" | "google_tf1"
    source.family                     "bert" | "gpt"
    source.backbone_config()          fields of the backbone's config dataclass, as a dict
    source.tokenizer()                its tokenizer
    source.task_name()                the task whose model it is, or None
    source.task_config(task_name)     labels and dropout of a task whose head is there, or {}
    source.load_backbone(backbone)    -> LoadReport                 # conversion.report
    source.load_task(task, with_head=True)    -> LoadReport

The way out:

    save_huggingface(model, config, folder, …)                      # conversion.huggingface

What differs from one Hugging Face model type to the next stands in conversion.model_types.

This package knows variable paths, not classes: it never imports backbones or tasks.
"""
