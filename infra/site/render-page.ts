import { escapeHtml, joinBlocks, renderList } from '../html.ts';
import type { Heading } from './render-markdown.ts';
import { toRelativeUrl } from './site-path.ts';

/** A page of the site in the navigation. */
interface NavigationPage {
  /** Path in the site, such as `guides/credits.html`. */
  readonly path: string;
  readonly label: string;
}

interface PageSection {
  readonly title: string;
  readonly pages: readonly NavigationPage[];
}

export interface PageContent {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Paths of the files that each page loads. */
export interface PageAssets {
  readonly styles: string;
  /** Runs before the first paint. */
  readonly theme: string;
  readonly script: string;
  readonly search: string;
}

interface Site {
  readonly sections: readonly PageSection[];
  readonly assets: PageAssets;
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f766e'/%3E%3Cpath d='M9 16.5l5 5 9-11' fill='none' stroke='%23fff' stroke-width='3.5' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E";

/** Renders a page with the navigation, its outline, and links to the pages before and after it. */
export function renderPage(content: PageContent, { sections, assets }: Site): string {
  const { path, title, description, html, headings } = content;
  const toUrl = (target: string): string => escapeHtml(toRelativeUrl(path, target));
  const outline = headings.filter(({ level }) => level === 2 || level === 3);
  return `${joinBlocks([
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    description !== '' && `<meta name="description" content="${escapeHtml(description.slice(0, 200))}">`,
    `<title>${escapeHtml(title === 'Claimcheck' ? title : `${title} · Claimcheck`)}</title>`,
    `<link rel="icon" href="${icon}">`,
    `<link rel="stylesheet" href="${toUrl(assets.styles)}">`,
    `<script src="${toUrl(assets.theme)}"></script>`,
    `<script defer src="${toUrl(assets.script)}"></script>`,
    '</head>',
    `<body data-search="${toUrl(assets.search)}">`,
    '<a class="skip" href="#content">Skip to the content</a>',
    '<header>',
    '<button type="button" id="menu" aria-controls="navigation" aria-expanded="false">Menu</button>',
    `<a class="brand" href="${toUrl('index.html')}">Claimcheck</a>`,
    '<button type="button" id="search">Search <kbd>/</kbd></button>',
    '<button type="button" id="theme">Theme</button>',
    '</header>',
    `<nav id="navigation" aria-label="Pages">`,
    ...sections.map((section) => renderSection(section, path)),
    '</nav>',
    '<main id="content">',
    outline.length > 1 &&
      `<details class="contents"><summary>On this page</summary>\n${renderOutline(outline)}\n</details>`,
    html,
    renderPager(sections, path),
    '</main>',
    outline.length > 1 && `<nav id="outline" aria-label="On this page">\n<h2>On this page</h2>`,
    outline.length > 1 && `${renderOutline(outline)}\n</nav>`,
    '</body>',
    '</html>',
  ])}\n`;
}

function renderSection({ title, pages }: PageSection, path: string): string {
  const links = pages.map((page) => {
    const current = page.path === path ? ' aria-current="page"' : '';
    return `<a href="${escapeHtml(toRelativeUrl(path, page.path))}"${current}>${escapeHtml(page.label)}</a>`;
  });
  const isOpen = pages.some((page) => page.path === path);
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary>\n${renderList(links)}\n</details>`;
}

const renderOutline = (headings: readonly Heading[]): string =>
  `<ul>\n${headings
    .map(
      ({ level, id, title }) => `<li class="level-${level}"><a href="#${escapeHtml(id)}">${escapeHtml(title)}</a></li>`,
    )
    .join('\n')}\n</ul>`;

function renderPager(sections: readonly PageSection[], path: string): string | false {
  const pages = sections.flatMap((section) => section.pages);
  const index = pages.findIndex((page) => page.path === path);
  if (index < 0) return false;
  const toLink = (page: NavigationPage | undefined, relation: 'prev' | 'next', text: string): string =>
    page
      ? `<a rel="${relation}" href="${escapeHtml(toRelativeUrl(path, page.path))}"><span>${text}</span> ${escapeHtml(page.label)}</a>`
      : '';
  return joinBlocks([
    '<nav class="pager" aria-label="Pages before and after">',
    toLink(pages[index - 1], 'prev', 'Previous'),
    toLink(pages[index + 1], 'next', 'Next'),
    '</nav>',
  ]);
}
