"""Example: what is returned goes to the output topic, as JSON."""


def handle(message):
    number = int(message.text)
    return {"number": number, "square": number * number}
