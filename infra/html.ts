/** Renders a heading. With an id, it has a link to itself. */
export function renderHeading(level: 1 | 2 | 3, text: string, id?: string): string {
  const title = escapeHtml(text);
  if (id === undefined) return `<h${level}>${title}</h${level}>`;
  return `<h${level} id="${id}">${title} <a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a></h${level}>`;
}

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

/** Renders a table that scrolls sideways. The cells are HTML. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const renderRow = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const body = rows.map((cells) => renderRow(cells, 'td')).join('\n');
  return `<div class="table" tabindex="0"><table>\n<thead>${renderRow(header, 'th')}</thead>\n<tbody>\n${body}\n</tbody>\n</table></div>`;
}

/** Escapes text for the content and the quoted attributes of HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Renders HTML that a reader opens by its title. */
export const renderBlock = (title: string, html: string, isOpen = false): string =>
  `<details${isOpen ? ' open' : ''}><summary>${title}</summary>${html}</details>`;
