"""Private examples in the prompt, with and without control codes (Zhao and Field 2025)."""
