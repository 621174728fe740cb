import MiniSearch from 'minisearch';

/** The texts of the site, as infra/site/build-site.ts writes them. */
export interface SearchIndex {
  readonly pages: readonly (readonly [path: string, title: string])[];
  readonly sections: readonly (readonly [page: number, anchor: string, heading: string, text: string])[];
}

export interface SearchResult {
  /** Relative to the root of the site. */
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  /** Words of the text that match. */
  readonly terms: readonly string[];
}

const maxResults = 20;

/** A section with the whole query as it was entered comes first, and the changelog last. */
const phraseBoost = 3;
const changelogBoost = 0.2;

/**
 * Creates the search. It finds beginnings of words and words with typing errors, first in the headings, and sections
 * with all words before the others.
 */
export function createSearch({ pages, sections }: SearchIndex): (query: string) => SearchResult[] {
  const search = new MiniSearch({
    fields: ['heading', 'page', 'text'],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  search.addAll(sections.map(([page, , heading, text], id) => ({ id, page: pages[page]?.[1], heading, text })));
  return (query) => {
    const phrase = query.toLowerCase();
    const boostDocument = (id: number): number => {
      const [page, , heading, text] = sections[id] ?? [-1, '', '', ''];
      const hasPhrase = `${heading} ${text}`.toLowerCase().includes(phrase);
      return (hasPhrase ? phraseBoost : 1) * (pages[page]?.[0] === 'changelog.html' ? changelogBoost : 1);
    };
    const strict = search.search(query, { combineWith: 'AND', boostDocument });
    const results = strict.length > 0 ? strict : search.search(query, { boostDocument });
    return results.slice(0, maxResults).flatMap(({ id, terms }) => {
      const [page, anchor, heading, text] = sections[id as number] ?? [-1, '', '', ''];
      const [path, title] = pages[page] ?? ['', ''];
      return { url: anchor === '' ? path : `${path}#${anchor}`, page: title, heading, text, terms };
    });
  };
}
