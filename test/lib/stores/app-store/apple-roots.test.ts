import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { appleIncRoot, appleRootG3 } from '../../../../lib/stores/app-store/apple-roots.ts';

/** Published at https://www.apple.com/certificateauthority/ */
const fingerprints = {
  'Apple Root CA - G3':
    '63:34:3A:BF:B8:9A:6A:03:EB:B5:7E:9B:3F:5F:A7:BE:7C:4F:5C:75:6F:30:17:B3:A8:C4:88:C3:65:3E:91:79',
  'Apple Root CA': 'B0:B1:73:0E:CB:C7:FF:45:05:14:2C:49:F1:29:5E:6E:DA:6B:CA:ED:7E:2C:68:C5:BE:91:B5:A1:10:01:F0:24',
};

describe('apple-roots', () => {
  it.each([
    ['Apple Root CA - G3', appleRootG3],
    ['Apple Root CA', appleIncRoot],
  ] as const)('contains the published certificate %s', (name, der) => {
    const { fingerprint256, subject } = new X509Certificate(der);
    expect(fingerprint256).toBe(fingerprints[name]);
    expect(subject).toContain(`CN=${name}`);
  });
});
