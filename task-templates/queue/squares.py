"""Example: what is returned goes to the output queue, as JSON."""


def handle(message):
    number = int(message.text)
    return {"number": number, "square": number * number}
