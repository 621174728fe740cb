import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchPath } from '../../../lib/http/match-path.ts';

const templates = ['/v3/customers/:applicationUsername/purchases', '/v2/customers/:applicationUsername/purchases'];

describe('a path', () => {
  it('gives back any user name that was encoded into it, decoded once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const path = `/v3/customers/${encodeURIComponent(name)}/purchases`;
        expect(matchPath(templates, path)?.params).toEqual({ applicationUsername: name });
      }),
    );
  });

  it.each(['a/b', 'what?', '100%', 'a+b', '%2F', '#1', 'übung 日本', '..'])('can name the user %s', (name) => {
    const path = `/v3/customers/${encodeURIComponent(name)}/purchases`;
    expect(matchPath(templates, path)?.params).toEqual({ applicationUsername: name });
  });

  it('tells by which of the templates it was called', () => {
    expect(matchPath(templates, '/v2/customers/ann/purchases')?.template).toBe(templates[1]);
  });

  it('may have a base path in front and a slash at the end', () => {
    const params = { applicationUsername: 'ann' };
    expect(matchPath(templates, '/pay/v3/customers/ann/purchases/')?.params).toEqual(params);
  });

  it.each(['/v3/customers/ann', '/v3/customers/ann/purchases/more', '/', ''])('%s is none of them', (path) => {
    expect(matchPath(templates, path)).toBeUndefined();
  });

  it('with broken encoding is the fault of the caller', () => {
    expect(() => matchPath(templates, '/v3/customers/%E0%A4%A/purchases')).toThrow(/percent encoding/);
  });
});
