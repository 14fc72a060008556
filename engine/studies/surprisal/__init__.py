"""Study `surprisal`: how surprising models tuned with and without some people find what those wrote."""
