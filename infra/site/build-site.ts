import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { contracts } from '../../lib/contracts/index.ts';
import { renderHeading, renderText } from '../html.ts';
import { buildOpenApiDocument } from '../openapi.ts';
import { projectFolder } from '../project-folder.ts';
import { renderApiReference } from '../render-api-reference.ts';
import { findDeadLinks } from './find-dead-links.ts';
import { documents, navigation, referenceTitle, toSource } from './navigation.ts';
import { type Image, renderCode, renderMarkdown, type Section } from './render-markdown.ts';
import { type PageAssets, type PageContent, renderPage } from './render-page.ts';
import { toRelativeUrl, toSitePath } from './site-path.ts';
import { wrapImage } from './wrap-image.ts';

/** Default folder of the site. */
const siteFolder = join(projectFolder, 'dist', 'docs');

const samplesFolder = 'docs/samples';

/** Pages of the site that documents name by their address in the local service. */
const localPages: Readonly<Record<string, string>> = {
  'http://127.0.0.1:4000/docs': 'index.html',
  'http://127.0.0.1:4000/reference': 'reference/index.html',
};

/** Endings of files whose language has another name. */
const languages: Readonly<Record<string, string>> = { kt: 'kotlin', ru: 'ruby' };

/** A page with the text that the search finds. */
interface SearchablePage extends PageContent {
  readonly sections: readonly Section[];
}

type Files = Map<string, string>;

/**
 * Builds the documentation site as files, which work below any path. Throws an `Error` with all dead links. Returns the
 * number of pages.
 */
export async function buildSite(outdir: string): Promise<number> {
  const files: Files = new Map();
  const documentPages = documents.map((source) => readPage(source, files));
  const samples = readdirSync(join(projectFolder, samplesFolder)).map(readSample);
  const document = buildOpenApiDocument(contracts);
  files.set('openapi.json', JSON.stringify(document));
  const reference = renderApiReference(document).map(({ name, sections, ...page }) => ({
    ...page,
    path: `reference/${name}.html`,
    headings: sections,
    sections,
  }));
  const pages = [...documentPages, ...reference, ...samples];
  const labels = new Map(documentPages.map(({ path, title }) => [path, title]));
  const sections = navigation.map(({ title, entries }) => ({
    title,
    pages:
      title === referenceTitle
        ? reference.map((page) => ({ path: page.path, label: page.title }))
        : entries.map((entry) => {
            const path = toSitePath(toSource(entry));
            return { path, label: typeof entry === 'string' ? (labels.get(path) ?? '') : entry[1] };
          }),
  }));
  const assets = {
    ...(await bundleAssets(files)),
    search: addHashed(files, 'assets/search.json', buildSearchIndex(pages)),
  };
  for (const page of [...pages, missingPage]) files.set(page.path, renderPage(page, { sections, assets }));
  const deadLinks = findDeadLinks(files);
  if (deadLinks.length > 0) throw new Error(`The site has dead links:\n${deadLinks.join('\n')}`);
  rmSync(outdir, { recursive: true, force: true });
  for (const [name, content] of files) {
    mkdirSync(dirname(join(outdir, name)), { recursive: true });
    writeFileSync(join(outdir, name), content);
  }
  return pages.length;
}

function readPage(source: string, files: Files): SearchablePage {
  const path = toSitePath(source);
  const text = readFileSync(join(projectFolder, source), 'utf8');
  const { sections, ...document } = renderMarkdown(text, {
    resolveLink: (href) => resolveLink(source, href),
    resolveImage: (href) => addImage(files, path, posix.join(posix.dirname(source), href)),
  });
  return { ...document, path, headings: sections, sections };
}

/**
 * Returns the URL of a link. The site has the documents and the samples; other files of the repository become text.
 */
function resolveLink(source: string, href: string): string | undefined {
  const localPage = localPages[href];
  if (localPage !== undefined) return toRelativeUrl(toSitePath(source), localPage);
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(source), file).replace(/\/$/, '');
  const overview = `${target}/README.md`;
  const document = documents.includes(overview) ? overview : target;
  if (!document.endsWith('.md') && posix.dirname(document) !== samplesFolder) return undefined;
  const url = toRelativeUrl(toSitePath(source), toSitePath(document));
  return anchor === undefined ? url : `${url}#${anchor}`;
}

function addImage(files: Files, page: string, source: string): Image {
  const { svg, ...size } = wrapImage(readFileSync(join(projectFolder, source)));
  const name = addHashed(files, `images/${basename(source, '.png')}.svg`, svg);
  return { ...size, url: toRelativeUrl(page, name) };
}

function readSample(name: string): SearchablePage {
  const text = readFileSync(join(projectFolder, samplesFolder, name), 'utf8');
  const ending = name.slice(name.lastIndexOf('.') + 1);
  const sections = [{ level: 1, id: 'sample', title: name, text: '' }];
  const html = `${renderHeading(1, name)}\n${renderCode(text, languages[ending] ?? ending)}`;
  return {
    path: toSitePath(`${samplesFolder}/${name}`),
    title: name,
    description: '',
    html,
    headings: [],
    sections,
  };
}

const missingPage: PageContent = {
  path: '404.html',
  title: 'Page not found',
  description: '',
  html: `${renderHeading(1, 'Page not found')}\n${renderText('The documentation lacks this page. [Introduction](index.html) and [All pages](all-pages.html) lead to each.')}`,
  headings: [],
};

/** Text of the search: the pages, and their sections with the index of the page. */
function buildSearchIndex(pages: readonly SearchablePage[]): string {
  const index = {
    pages: pages.map(({ path, title }) => [path, title]),
    sections: pages.flatMap(({ sections }, page) =>
      sections.map(({ level, id, title, text }) => [page, level === 1 ? '' : id, title, text.trim()]),
    ),
  };
  return JSON.stringify(index);
}

/** Adds a file with the hash of its content in the name, and returns that name. */
function addHashed(files: Files, path: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase();
  const name = path.replace(/(?=\.\w+$)/, `-${hash}`);
  files.set(name, content);
  return name;
}

/** Bundles the scripts and the styles of console/site. */
async function bundleAssets(files: Files): Promise<Omit<PageAssets, 'search'>> {
  const { outputFiles } = await build({
    absWorkingDir: projectFolder,
    entryPoints: ['main.ts', 'apply-theme.ts', 'styles.css'].map((name) => `console/site/${name}`),
    outdir: '/',
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: ['es2022', 'chrome123', 'firefox128', 'safari17.5'],
    write: false,
    legalComments: 'none',
    logLevel: 'warning',
  });
  const add = (name: string): string => {
    const output = outputFiles.find(({ path }) => basename(path) === name);
    if (!output) throw new Error(`The bundle lacks ${name}.`);
    return addHashed(files, `assets/${name}`, output.text);
  };
  return { styles: add('styles.css'), theme: add('apply-theme.js'), script: add('main.js') };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = siteFolder] = process.argv.slice(2);
  const count = await buildSite(resolve(folder));
  console.log(
    `${count} pages in ${relative(process.cwd(), resolve(folder))}. Open index.html, or copy the folder to a web server.`,
  );
}
