export const link = (id: string, text: string): string => `<a href="#${id}">${escapeHtml(text)}</a>`;

export const renderHeading = (level: 1 | 2 | 3, text: string, id?: string): string =>
  `<h${level}${id === undefined ? '' : ` id="${id}"`}>${escapeHtml(text)}</h${level}>`;

export const renderText = (text: string): string => `<p>${renderInline(text)}</p>`;

/** Renders the code in backticks and the links of a description. */
export const renderInline = (text: string): string =>
  escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>');

export const toCode = (text: string): string => `<code>${escapeHtml(text)}</code>`;

export const joinBlocks = (blocks: readonly (string | false | undefined)[]): string =>
  blocks.filter((block) => block !== undefined && block !== false).join('\n');

export const renderList = (items: readonly string[]): string =>
  `<ul>\n${items.map((item) => `<li>${item}</li>`).join('\n')}\n</ul>`;

/** Renders a table. The cells are HTML. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const renderRow = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const body = rows.map((cells) => renderRow(cells, 'td')).join('\n');
  return `<table>\n<thead>${renderRow(header, 'th')}</thead>\n<tbody>\n${body}\n</tbody>\n</table>`;
}

/** Escapes text for the content and the quoted attributes of HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Renders preformatted text that a reader opens by its title. */
export const renderBlock = (title: string, text: string): string =>
  `<details><summary>${title}</summary><pre><code>${escapeHtml(text)}</code></pre></details>`;
