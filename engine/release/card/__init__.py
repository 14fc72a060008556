"""What is said of the records to those who get them, and words held against what must not be said.

    card, forms      the data card, and the same in forms that other programs read
    naming           claims without the ids that runs have in the workspace
    numbers, words   counted or measured numbers, and private text, among words that are about to leave

May import `engine.release.policy`, what stands beside this folder, and of the bundle `export` alone. One more form: a
function in `forms`, its file in `engine.release.bundle.bundle`.
"""
