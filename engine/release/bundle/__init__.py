"""What leaves: files, their checks and signatures.

    bundle, export, report   one folder or zip file; the records as files; the report for a reader outside
    checker, verify          the program that every bundle carries, and its call
    signing, revocations     who signed, and what was withdrawn since

May import the rest of `engine.release`, and `engine.figures` and below; `checker` imports nothing of ours, since it
runs where this program is not installed. One more format: a function in `export`, its name in `bundle`.
"""
