import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { wrapImage } from '../../../infra/site/wrap-image.ts';

describe('wrapImage', () => {
  it('returns an SVG with the image and its size', () => {
    const png = readFileSync('docs/images/start.png');
    const { svg, width, height } = wrapImage(png);
    expect(svg).toContain(`viewBox="0 0 ${width} ${height}"`);
    const [, content = ''] = /base64,([^"]+)"/.exec(svg) ?? [];
    expect(Buffer.from(content, 'base64')).toEqual(png);
    expect([width, height].every((size) => size > 100 && size < 5_000)).toBe(true);
  });
});
