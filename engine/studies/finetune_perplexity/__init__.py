"""Study `finetune-perplexity`: what noise in training costs, and whether the claim holds."""
