import { afterEach, describe, expect, it } from '@jest/globals';
import { apiError, describeError } from '../../console/api/api-error.ts';

afterEach(() => void Reflect.deleteProperty(globalThis, 'navigator'));

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

  it.each([
    ['the service', { status: 504, code: 'Timeout', message: 'Endpoint request timed out' }],
    ['the console', { status: 0, code: 'Unreachable', message: 'TimeoutError: signal timed out' }],
  ])('states that a request took too long for %s', (_name, input) => {
    expect(describeError(apiError(input))).toEqual({
      problem: 'The service timed out.',
      advice: 'Try again. Figures of a shorter period take less time.',
    });
  });

  it.each([
    ['a request', apiError({ status: 0, code: 'Unreachable', message: 'TypeError: Failed to fetch' })],
    ['the file of a page', new TypeError('Failed to fetch dynamically imported module: x.js')],
  ])('states that the browser is offline if %s fails', (_name, error) => {
    expect(describeError(error).problem).not.toBe('The browser is offline.');
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: false }, configurable: true });
    expect(describeError(error).problem).toBe('The browser is offline.');
  });
});
