"""Draws confusion matrices side by side as a PNG."""

from PIL import Image, ImageDraw, ImageFont

CELL, GAP, TITLE, LABEL = 40, 48, 64, 56
INK, PAPER, FAINT = (30, 34, 42), (255, 255, 255), (120, 126, 138)
RIGHT, WRONG = (34, 113, 178), (213, 94, 0)


def draw_confusions(path, matrices):
    """`matrices`: pairs of a title and counts (true digit, guessed digit). Right guesses are blue, wrong orange."""
    side = LABEL + CELL * len(matrices[0][1])
    image = Image.new("RGB", (GAP + (side + GAP) * len(matrices), TITLE + side + GAP), PAPER)
    canvas = ImageDraw.Draw(image)
    for number, (title, counts) in enumerate(matrices):
        draw_matrix(canvas, GAP + (side + GAP) * number, TITLE, title, counts)
    image.save(path)


def draw_matrix(canvas, left, top, title, counts):
    size, plain, large = len(counts), ImageFont.load_default(15), ImageFont.load_default(20)
    middle = left + LABEL + CELL * size / 2
    canvas.text((middle, top - 36), title, INK, large, anchor="mm")
    legend = "true digit down, guessed digit across"
    canvas.text((middle, top + LABEL + CELL * size + 18), legend, FAINT, plain, anchor="mm")
    for digit in range(size):
        canvas.text((left + LABEL + CELL * (digit + 0.5), top + LABEL - 16), str(digit), FAINT, plain, anchor="mm")
        canvas.text((left + LABEL - 16, top + LABEL + CELL * (digit + 0.5)), str(digit), FAINT, plain, anchor="mm")
    for true, row in enumerate(counts):
        for guessed, count in enumerate(row):
            corner = (left + LABEL + CELL * guessed, top + LABEL + CELL * true)
            draw_cell(canvas, corner, count, count / max(1, row.sum()), true == guessed, plain)


def draw_cell(canvas, corner, count, share, right, font):
    """A cell is the stronger the larger its share of the row; a single wrong guess is still seen."""
    x, y = corner
    strength = 0.0 if count == 0 else max(0.15, share)
    color = tuple(round(paper + (ink - paper) * strength) for paper, ink in zip(PAPER, RIGHT if right else WRONG))
    canvas.rectangle((x, y, x + CELL - 2, y + CELL - 2), color if count else (244, 245, 247))
    if count:
        middle, ink = (x + CELL / 2 - 1, y + CELL / 2 - 1), PAPER if strength > 0.5 else INK
        canvas.text(middle, str(count), ink, font, anchor="mm")
