import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import { sumProfileParts } from '../../../bench/load/cpu-profile.ts';

const folder = mkdtempSync(join(tmpdir(), 'cpu-profile-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('sums the time of each sample by the module that runs, also inside a bundle', () => {
  const bundle = join(folder, 'bundle.mjs');
  writeFileSync(
    bundle,
    '// node_modules/@smithy/core/index.js\na\n// lib/credits/settlement.ts\nb\n// local/wakeup.ts\nc\n',
  );
  const at = (url: string, lineNumber = 0, functionName = 'f') => ({ url, lineNumber, functionName });
  const frames = [
    at('', 0, '(idle)'),
    at('', 0, '(garbage collector)'),
    at('', 0, 'writev'),
    at('node:_http_client'),
    at('node:crypto'),
    at(pathToFileURL(bundle).href, 1),
    at(pathToFileURL(bundle).href, 3),
    at(pathToFileURL(bundle).href, 5),
    at('file:///project/node_modules/@aws-sdk/client-dynamodb/index.js'),
    at('file:///project/node_modules/jose/lib/key.js'),
    at('file:///project/emulator/clock.ts'),
  ];
  const nodes = frames.map((frame, id) => ({ id, callFrame: { ...frame, scriptId: '', columnNumber: 0 } }));
  const profile = { nodes, startTime: 0, endTime: 0, samples: nodes.map(({ id }) => id) };
  const timeDeltas = nodes.map(({ id }) => 1_000 * 2 ** id);
  expect(sumProfileParts([{ ...profile, timeDeltas }])).toEqual({
    'garbage collection': 2,
    sockets: 4 + 8,
    Node: 16,
    'AWS SDK': 32 + 256,
    handlers: 64,
    'local runtime': 128,
    'other packages': 512,
    'emulated stores': 1024,
  });
});
