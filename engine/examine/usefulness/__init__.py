"""How well does the text stand in for the private one? Always beside real against real at the same n."""
