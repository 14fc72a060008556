"""Study `pairs`: a method run on X and on X without some people, several times each."""
