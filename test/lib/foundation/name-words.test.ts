import { describe, expect, it } from '@jest/globals';
import { listNameEnds } from '../../../lib/foundation/keys.ts';

describe('listNameEnds', () => {
  it.each([
    ['Nora.Stripe@Example.com', ['stripe@example.com', 'example.com']],
    ['nora@mail.example.co.uk', ['mail.example.co.uk']],
    ['no-access', ['access']],
    ['"Zoë & Émile"', ['zoë & émile"', 'émile"']],
    ['a.b.lee', ['lee']],
    ['山田 太郎', ['太郎']],
    ['हिन्दी नाम', ['नाम']],
    ['one two three four five', ['two three four five', 'three four five', 'four five']],
    ['alice', []],
    ['user-4711', []],
    ['user-3f2504e0-4f89-41d3-9a0c-bad5e82c3301', []],
    ['auth0|507f1f77bcf86cd799439020', []],
    ['$RCAnonymousID:87c6049c58069238dce29853916d624c', []],
    ['app.kXw81nTqYHZ0pVb3dLsE6uRmCf92', []],
    ['abc.incomprehensibilities', ['incomprehensibilities']],
  ])('returns the ends of %s', (name, ends) => {
    expect(listNameEnds(name)).toEqual(ends);
  });

  it('takes no longer for the longest names', () => {
    expect(listNameEnds('a'.repeat(900))).toEqual([]);
    expect(listNameEnds('ab.'.repeat(300))).toEqual([]);
  });
});
