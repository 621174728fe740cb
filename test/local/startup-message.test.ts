import { describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../local/start-local.ts';
import { buildStartupMessage } from '../../local/startup-message.ts';

const service = {
  baseUrl: 'http://127.0.0.1:4000',
  emulatorUrl: 'http://127.0.0.1:4001',
  consoleUrl: 'http://127.0.0.1:4000/console#app=demo&key=sec_a',
  appName: 'demo',
  publicKey: 'pub_a',
  secretKey: 'sec_a',
  webhooks: { urls: [], sandboxUrls: [], signingSecret: 'whsec_a' },
} as unknown as LocalService;

const build = (folder: string) =>
  buildStartupMessage(service, {
    folder,
    storedFolder: folder,
    isPersistent: true,
    isDefaultFolder: folder === '.local',
  });

describe('output of npm start', () => {
  it('names the demo, which every shell can run', () => {
    expect(build('.local')).toMatch(/^ {2}npm run demo$/m);
    expect(build('.local')).not.toMatch(/\$\(|curl/);
  });

  it('names the folder of a second service', () => {
    expect(build('/tmp/second')).toMatch(/^ {2}npm run demo -- \S*second$/m);
  });
});
