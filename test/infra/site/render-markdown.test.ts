import { describe, expect, it } from '@jest/globals';
import { renderMarkdown } from '../../../infra/site/render-markdown.ts';

const render = (text: string) =>
  renderMarkdown(text, {
    resolveLink: (href) => (href.endsWith('.ts') ? undefined : `to/${href}`),
    resolveImage: (href) => ({ url: `to/${href}`, width: 2, height: 1 }),
  });

describe('renderMarkdown', () => {
  it('returns the title, the first paragraph and the text of each section', () => {
    const { title, description, sections } = render(
      '# A `b`\n\nOne [link](x.md).\nTwo.\n\n## Next\n\n- item\n\n```sh\nrun\n```\n',
    );
    expect([title, description]).toEqual(['A b', 'One link. Two.']);
    expect(sections.map(({ id, text }) => [id, text.trim()])).toEqual([
      ['a-b', 'One link. Two.'],
      ['next', 'item run'],
    ]);
  });

  it('numbers the anchors of equal headings', () => {
    expect(render('## One\n\n## One\n').sections.map(({ id }) => id)).toEqual(['one', 'one-1']);
  });

  it('renders a link to a file that the site lacks as text', () => {
    expect(render('[a](a.md) and [`b`](b.ts)').html).toBe('<p><a href="to/a.md">a</a> and <code>b</code></p>\n');
  });

  it('renders an image with its size', () => {
    expect(render('![A "b"](b.png)').html).toBe(
      '<p><img src="to/b.png" alt="A &quot;b&quot;" width="2" height="1" loading="lazy"></p>\n',
    );
  });

  it('shows HTML as text, and omits comments', () => {
    expect(render('<!-- a -->\n<b>b</b>\n').html).toBe('<p>&lt;b&gt;b&lt;/b&gt;</p>\n');
  });

  it('marks the tokens of code by classes, and aligns numbers by a class', () => {
    expect(render('```js name=x\nconst a = 1;\n```').html).toContain('<span class="hljs-keyword">const</span>');
    expect(render('    a\n').html).toBe('<div class="code"><pre tabindex="0"><code>a\n</code></pre></div>\n');
    expect(render('| a | b |\n| - | -: |\n| 1 | 2 |').html).toContain('<td>1</td>\n<td class="number">2</td>');
  });
});
