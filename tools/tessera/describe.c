/* The commands as lines that man pages and completions are made from. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* A text with blanks in place of what would end its field. */
static void write_field(const char *text)
{
    putchar('\t');
    for (; text != NULL && *text != '\0'; text++) {
        putchar(isspace((unsigned char)*text) ? ' ' : *text);
    }
}

static void write_options(const struct argp_option *row)
{
    for (; row != NULL && (row->name != NULL || row->doc != NULL || row->key != 0); row++) {
        const char key[2] = {row->key > ' ' && row->key < 127 ? (char)row->key : '\0', '\0'};
        if (row->name == NULL || (row->flags & OPTION_HIDDEN) != 0) {
            continue;
        }
        fputs("option", stdout);
        write_field(row->name);
        write_field(key);
        write_field(row->arg);
        write_field(row->doc);
        putchar('\n');
    }
}

/* A line for each of a text; argp separates what follows the options by a vertical tab. */
static void write_text(const char *text)
{
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, "\n\v");
        printf("text\t%.*s\n", (int)length, text);
        if (text[length] == '\v') {
            puts("text\t");
        }
        text += length + (text[length] != '\0');
    }
}

static void describe_one(const char *name, const char *doc, const struct argp *argp)
{
    fputs("command", stdout);
    write_field(name);
    write_field(argp->args_doc);
    write_field(doc);
    putchar('\n');
    write_text(argp->doc);
    write_options(argp->options);
    fputs("option\thelp\t?\t\tGive this help list\n", stdout);
    fputs("option\tusage\t\t\tGive a short usage message\n", stdout);
    fputs("option\tversion\tV\t\tPrint program version\n", stdout);
}

void describe_commands(const struct argp *main, const struct command *commands, size_t count)
{
    describe_one("tessera", "shardings of tensors over meshes of devices", main);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "tessera %s", commands[i].name);
        describe_one(name, commands[i].doc, commands[i].argp);
    }
}
