import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPublicAddress, parseWebhookUrl } from '../../../../lib/foundation/outgoing/webhook-url.ts';

const publicOnly = { allowsLoopback: false };
const withLoopback = { allowsLoopback: true };

/** One IPv4 address of each range that is not public. */
const nonPublicAddresses = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.1.2.3',
  '169.254.169.254',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
];
const toHexGroups = (address: string): string =>
  address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(.{4})/, '$1:');

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::6810:84e5',
    '2a00:1450:4001:81b::200e',
  ])('accepts %s', (address) => {
    expect(isPublicAddress(address, publicOnly)).toBe(true);
  });

  it.each(nonPublicAddresses)('rejects %s and all IPv6 addresses that embed it', (address) => {
    const digits = toHexGroups(address);
    const forms = [
      address,
      `::ffff:${address}`,
      `::ffff:${digits}`,
      `::ffff:0:${digits}`,
      `::${address}`,
      `64:ff9b::${digits}`,
      `64:ff9b:1::${digits}`,
      `2002:${digits}::1`,
      `2001:0:${digits}::1`,
    ];
    expect(forms.filter((form) => isPublicAddress(form, publicOnly))).toEqual([]);
  });

  it.each([
    '::',
    '::1',
    'fd00:ec2::254',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '100::1',
  ])('rejects %s', (address) => {
    expect(isPublicAddress(address, publicOnly)).toBe(false);
  });

  it('rejects text that is not an address', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[\da-f.:x]+$/i.test(text));
        expect(isPublicAddress(text, publicOnly)).toBe(false);
      }),
    );
  });

  it('accepts only loopback addresses in addition if loopback is allowed', () => {
    expect(['127.0.0.1', '::1'].map((address) => isPublicAddress(address, withLoopback))).toEqual([true, true]);
    expect(
      ['10.0.0.1', '169.254.169.254', '0.0.0.0', '::'].some((address) => isPublicAddress(address, withLoopback)),
    ).toBe(false);
  });
});

describe('parseWebhookUrl', () => {
  it.each(['https://example.com/hook', 'https://example.com:8443/?token=1', 'https://[2606:4700::6810:84e5]/'])(
    'accepts %s',
    (url) => {
      expect(parseWebhookUrl(url, publicOnly).href).toContain('https://');
    },
  );

  it.each([
    ['http://example.com/', /https/],
    ['ftp://example.com/', /https/],
    ['https://user:pass@example.com/', /credentials/],
    ['https://user@example.com/', /credentials/],
    ['https://127.0.0.1/', /not public/],
    ['https://0x7f.1/', /not public/],
    ['https://2130706433/', /not public/],
    ['https://0251.0376.0251.0376/', /not public/],
    ['https://[::ffff:169.254.169.254]/', /not public/],
    ['https://[fd00:ec2::254]/', /not public/],
    ['https://example.com:6379/', /port/],
    ['example.com', /not a URL/],
    [`https://example.com/${'x'.repeat(2_000)}`, /not a URL/],
  ])('rejects %s', (url, problem) => {
    expect(() => parseWebhookUrl(url, publicOnly)).toThrow(problem);
  });

  it('accepts http and loopback addresses if loopback is allowed', () => {
    expect(parseWebhookUrl('http://127.0.0.1:5000/hook', withLoopback).port).toBe('5000');
    expect(() => parseWebhookUrl('http://169.254.169.254/', withLoopback)).toThrow(/not public/);
  });
});
