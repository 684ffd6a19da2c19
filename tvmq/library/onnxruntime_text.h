/* Errors of an operator in words: a part of onnxruntime.c. */
enum { MOST_TEXT = 512 };

struct text {
    size_t length;
    char data[MOST_TEXT];
};

static void add_text(struct text *text, const char *more) {
    while (*more && text->length < MOST_TEXT - 1) text->data[text->length++] = *more++;
    text->data[text->length] = 0;
}

static void add_number(struct text *text, int64_t number) {
    char digits[24], *digit = digits + sizeof digits - 1;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *digit = 0;
    do
        *--digit = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) *--digit = '-';
    add_text(text, digit);
}

/* Sizes below 0 are those of dynamic dimensions. */
static void add_shape(struct text *text, const int64_t *shape, size_t rank) {
    add_text(text, "[");
    for (size_t axis = 0; axis < rank && axis < MODEL_MOST_RANK; axis++) {
        if (axis) add_text(text, ", ");
        if (shape[axis] < 0)
            add_text(text, "?");
        else
            add_number(text, shape[axis]);
    }
    add_text(text, rank > MODEL_MOST_RANK ? ", ...]" : "]");
}

static int equal_texts(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static model_description describe_model(void) {
    model_description description;
    model_describe(&description);
    return description;
}

static void begin_message(struct text *text) {
    text->length = 0;
    add_text(text, describe_model().name);
    add_text(text, ": ");
}

static struct ort_status *fail(const struct ort_api *api, int code, const char *why) {
    struct text text;
    begin_message(&text);
    add_text(&text, why);
    return api->create_status(code, text.data);
}
