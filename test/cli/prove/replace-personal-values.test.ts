import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPseudonyms } from '../../../cli/prove/pseudonyms.ts';
import { replaceInBody, replaceInJson, replaceInUrl } from '../../../cli/prove/replace-personal-values.ts';

describe('createPseudonyms', () => {
  it('replaces equal values by equal ones and different values by different ones of the same form', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9]{8,40}$/), { minLength: 2 }), (values) => {
        const pseudonyms = createPseudonyms();
        const replaced = values.map((value) => pseudonyms.replace(value));
        expect(values.map((value) => pseudonyms.replace(value))).toEqual(replaced);
        expect(new Set(replaced).size).toBe(values.length);
        for (const [index, value] of values.entries()) {
          expect(replaced[index]).not.toBe(value);
          expect(replaced[index]).toHaveLength(value.length);
        }
      }),
    );
  });

  it('keeps the prefix of an id, the number of a renewal and the id within a purchase id', () => {
    const { replace } = createPseudonyms();
    expect(replace('sub_1Abc234')).toMatch(/^sub_\d[A-Z][a-z]{2}\d{3}$/);
    expect(replace('processor_a:sub_1Abc234')).toBe(`processor_a:${replace('sub_1Abc234')}`);
    expect(replace('GPA.3312-4567-8901-23456..4')).toBe(`${replace('GPA.3312-4567-8901-23456')}..4`);
    expect(replace('store_b:token-1:gold')).toBe(`store_b:${replace('token-1')}:${replace('gold')}`);
  });

  it('replaces a UUID with and without hyphens by the same one', () => {
    const { replace } = createPseudonyms();
    const uuid = replace('1c9a2f34-5b6d-4e7f-8a90-b1c2d3e4f506');
    expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
    expect(replace('1c9a2f345b6d4e7f8a90b1c2d3e4f506')).toBe(uuid.replaceAll('-', ''));
  });
});

describe('replaceInJson', () => {
  it('keeps states, dates and amounts, and replaces all other text, also of unknown fields', () => {
    const value = {
      status: 'active',
      startTime: '2026-01-31T10:00:00Z',
      price: 4990,
      email: 'ann@example.com',
      new: 'Ann',
    };
    const replaced = replaceInJson(value, createPseudonyms()) as typeof value;
    expect(replaced).toMatchObject({ status: 'active', startTime: '2026-01-31T10:00:00Z', price: 4990 });
    expect(JSON.stringify(replaced)).not.toMatch(/ann/i);
    expect(replaced.email).toMatch(/^[a-z]{3}@[a-z]{7}\.[a-z]{3}$/);
  });

  it('decodes signed text and replaces the values in it', () => {
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
    const signed = `${encode({ alg: 'ES256', x5c: ['certificate'] })}.${encode({ transactionId: '20001' })}.c2ln`;
    const pseudonyms = createPseudonyms();
    expect(replaceInJson({ signedTransactionInfo: signed }, pseudonyms)).toEqual({
      signedTransactionInfo: {
        $signed: { header: { alg: 'ES256' }, payload: { transactionId: pseudonyms.replace('20001') } },
      },
    });
  });
});

describe('replaceInBody', () => {
  it('replaces the text of XML elements', () => {
    const xml = '<subscription><id>abc123</id><price>4.99</price><status>Active</status></subscription>';
    const pseudonyms = createPseudonyms();
    expect(replaceInBody(xml, pseudonyms)).toBe(xml.replace('abc123', pseudonyms.replace('abc123')));
  });
});

describe('replaceInUrl', () => {
  it('replaces ids, and product ids that a response has', () => {
    const pseudonyms = createPseudonyms();
    const product = pseudonyms.replace('gold');
    const url =
      'https://androidpublisher.googleapis.com/androidpublisher/v3/applications/com.acme/purchases/products/gold/tokens/a1b2c3';
    expect(replaceInUrl(url, pseudonyms)).toBe(
      `https://androidpublisher.googleapis.com/androidpublisher/v3/applications/${pseudonyms.replace('com.acme')}/purchases/products/${product}/tokens/${pseudonyms.replace('a1b2c3')}`,
    );
  });
});
