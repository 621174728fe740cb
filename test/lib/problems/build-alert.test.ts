import { describe, expect, it } from '@jest/globals';
import { buildAlert } from '../../../lib/problems/build-alert.ts';

describe('buildAlert', () => {
  it('escapes the characters with which Slack marks links and mentions', () => {
    const started = [
      { id: 'store store_a', tone: 'warn', text: 'The store said <!channel> & <https://evil.example>.' },
    ] as const;
    const { text } = JSON.parse(buildAlert('demo', { started, ended: [], announced: [] }, 0));
    expect(text).toBe('*Claimcheck, app demo*\n🟠 The store said &lt;!channel&gt; &amp; &lt;https://evil.example&gt;.');
  });
});
