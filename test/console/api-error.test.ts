import { describe, expect, it } from '@jest/globals';
import { apiError, describeError } from '../../console/api/api-error.ts';

describe('describeError', () => {
  it.each([
    ['a wrong app name', { status: 401, code: 'AppNotFound', message: 'No app has this name.' }, /^Check the app name/],
    ['a deleted app', { status: 404, code: 'AppNotFound', message: 'The app is deleted.' }, /^Check the app name/],
    ['a wrong key', { status: 401, code: 'Forbidden', message: 'The key does not match.' }, /^Check the key/],
  ])('states what to check at the sign-in for %s', (_name, input, advice) => {
    const described = describeError(apiError(input));
    expect(described.advice).toMatch(advice);
    expect(described.problem).toBe(input.code === 'AppNotFound' ? input.message : 'The app has no such key.');
  });
});
