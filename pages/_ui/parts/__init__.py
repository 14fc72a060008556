"""Pieces that several pages draw.

    charts, wrapped        small charts with takeaway and alternative text; tables whose cells wrap
    highlight              text with marks: with the review's desk, the one place where record text meets HTML
    pager, sliders, once   paging; a slider that says its value; a press that counts once
    loading, progress      what stands in the place of what is computed; a job's progress

May import what stands beside this folder. One more piece: a file here once a second page needs it; before that it
belongs to its page's folder.
"""
