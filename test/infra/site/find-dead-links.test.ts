import { describe, expect, it } from '@jest/globals';
import { findDeadLinks } from '../../../infra/site/find-dead-links.ts';

const target = '<h2 id="first">First</h2>';

describe('findDeadLinks', () => {
  it.each([
    ['a page', '<a href="../b.html">', []],
    ['an anchor of a page', '<a href="../b.html#first">', []],
    ['an anchor of the same page', '<p id="here"><a href="#here">', []],
    ['another site', '<a href="https://example.com/none">', []],
    ['a missing page', '<a href="b.html">', ['a/a.html: b.html']],
    ['a missing anchor', '<a href="../b.html#none">', ['a/a.html: ../b.html#none']],
    ['a missing anchor of the same page', '<a href="#none">', ['a/a.html: #none']],
    ['a missing image', '<img src="none.svg" alt="">', ['a/a.html: none.svg']],
  ])('reports only dead links: %s', (_name, html, expected) => {
    const files = new Map([
      ['a/a.html', html],
      ['b.html', target],
    ]);
    expect(findDeadLinks(files)).toEqual(expected);
  });
});
