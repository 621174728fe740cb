import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchPath } from '../../../lib/http/request.ts';

const templates = ['/v3/customers/:applicationUsername/purchases', '/v2/customers/:applicationUsername/purchases'];

describe('matchPath', () => {
  it('decodes every percent-encoded username once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (username) => {
        const path = `/v3/customers/${encodeURIComponent(username)}/purchases`;
        expect(matchPath(templates, path)?.params).toEqual({ applicationUsername: username });
      }),
    );
  });

  it.each(['a/b', 'what?', '100%', 'a+b', '%2F', '#1', 'übung 日本', '..'])('accepts the username %s', (username) => {
    const path = `/v3/customers/${encodeURIComponent(username)}/purchases`;
    expect(matchPath(templates, path)?.params).toEqual({ applicationUsername: username });
  });

  it('returns the matching template', () => {
    expect(matchPath(templates, '/v2/customers/ann/purchases')?.template).toBe(templates[1]);
  });

  it('ignores a base path and a trailing slash', () => {
    const params = { applicationUsername: 'ann' };
    expect(matchPath(templates, '/pay/v3/customers/ann/purchases/')?.params).toEqual(params);
  });

  it.each(['/v3/customers/ann', '/v3/customers/ann/purchases/more', '/', ''])(
    'returns undefined for the path "%s"',
    (path) => {
      expect(matchPath(templates, path)).toBeUndefined();
    },
  );

  it('rejects invalid percent encoding', () => {
    expect(() => matchPath(templates, '/v3/customers/%E0%A4%A/purchases')).toThrow(/percent encoding/);
  });
});
