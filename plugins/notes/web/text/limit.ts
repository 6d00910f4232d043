/** Characters of Markdown that one note holds: converting more would hold up everybody else. */
export const maxMarkdown = 500_000;
