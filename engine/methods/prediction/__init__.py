"""Private prediction: texts written token by token from logits that batches of private prompts move a little."""
