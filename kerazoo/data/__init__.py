"""Readers of labelled and unlabelled text: TSV, CSV, JSONL and plain lines."""
