import hljs from 'highlight.js/lib/common';
import dart from 'highlight.js/lib/languages/dart';
import createMarkdownIt, { type MarkdownIt, type Token } from 'markdown-it';
import { escapeHtml } from '../html.ts';
import { toAnchor } from './anchor.ts';

export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  readonly id: string;
  readonly title: string;
}

/** A heading with the text below it, up to the next heading. */
export interface Section extends Heading {
  readonly text: string;
}

interface RenderedDocument {
  /** Text of the heading of level 1. */
  readonly title: string;
  /** Text of the first paragraph. */
  readonly description: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

/** An image of the site. */
export interface Image {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

interface Links {
  /** Returns the URL of the target of a link, or undefined if the site lacks it: the link becomes text. */
  resolveLink(href: string): string | undefined;
  resolveImage(href: string): Image;
}

hljs.registerLanguage('dart', dart);

/** Renders a document of the repository as HTML without inline styles, which the service forbids. */
export function renderMarkdown(text: string, links: Links): RenderedDocument {
  const markdown = createParser(links);
  const tokens = markdown.parse(text.replaceAll(/<!--[\s\S]*?-->\n?/g, ''), {});
  const sections = addHeadingIds(tokens);
  const title = sections.find(({ level }) => level === 1)?.title ?? '';
  const paragraph = tokens.findIndex(({ type, level }) => type === 'paragraph_open' && level === 0);
  return {
    title,
    description: toText(tokens[paragraph + 1]),
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections,
  };
}

/** Renders code with the classes of its tokens. An unknown language is rendered without them. */
export function renderCode(code: string, language: string): string {
  const content = hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escapeHtml(code);
  return `<div class="code"><pre tabindex="0"><code>${content}</code></pre></div>\n`;
}

function createParser({ resolveLink, resolveImage }: Links): MarkdownIt {
  const markdown = createMarkdownIt({ html: false, linkify: true });
  // Only URLs with a scheme: README.md is no host name.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  const { rules } = markdown.renderer;
  for (const block of ['fence', 'code_block'])
    rules[block] = (tokens, index) => {
      const { content = '', info = '' } = tokens[index] ?? {};
      return renderCode(content, /^\w*/.exec(info)?.[0] ?? '');
    };
  rules.heading_close = (tokens, index) => {
    const { tag = 'h2' } = tokens[index] ?? {};
    const id = tokens[index - 2]?.attrGet('id') ?? '';
    const title = escapeHtml(toText(tokens[index - 1]));
    return ` <a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a></${tag}>\n`;
  };
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  for (const cell of ['th_open', 'td_open'])
    rules[cell] = (tokens, index) => {
      const { tag = 'td' } = tokens[index] ?? {};
      const isRight = String(tokens[index]?.attrGet('style')).includes('right');
      return isRight ? `<${tag} class="number">` : `<${tag}>`;
    };
  const isText: boolean[] = [];
  rules.link_open = (tokens, index) => {
    const url = resolveLink(String(tokens[index]?.attrGet('href')));
    isText.push(url === undefined);
    return url === undefined ? '' : `<a href="${escapeHtml(url)}">`;
  };
  rules.link_close = () => (isText.pop() ? '' : '</a>');
  rules.image = (tokens, index) => {
    const token = tokens[index];
    const { url, width, height } = resolveImage(String(token?.attrGet('src')));
    return `<img src="${escapeHtml(url)}" alt="${escapeHtml(token?.content ?? '')}" width="${width}" height="${height}" loading="lazy">`;
  };
  return markdown;
}

/** Gives each heading its anchor, and lists the texts below the headings. */
function addHeadingIds(tokens: readonly Token[]): Section[] {
  const counts = new Map<string, number>();
  const sections: { level: number; id: string; title: string; text: string }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = toText(tokens[index + 1]);
      const id = toAnchor(title, counts);
      token.attrSet('id', id);
      sections.push({ level: Number(token.tag.slice(1)), id, title, text: '' });
    } else if (tokens[index - 1]?.type !== 'heading_open') {
      const section = sections.at(-1);
      const text = token.type === 'fence' || token.type === 'code_block' ? token.content : toText(token);
      if (section && text !== '') section.text += `${text.replaceAll(/\s+/g, ' ').trim()} `;
    }
  }
  return sections;
}

/** Returns the text of an inline token without its marks. */
const toText = (token: Token | undefined): string =>
  (token?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : type === 'image' ? '' : content))
    .join('');
