import type { LocalService } from './start-local.ts';

/** What `npm start` prints when the service is ready: where it is, its keys, and lines to paste. */
export function announcement(service: LocalService, keeps: string | undefined): string {
  const { baseUrl, emulatorUrl, app, publicKey, secretKey } = service;
  return `
Claimcheck   ${baseUrl}
Stores       ${emulatorUrl}/control   (an emulator: its clock moves the service's clock)
Application  ${app}
Public key   ${publicKey}
Secret key   ${secretKey}
Webhooks     printed here as the application's server gets them
Data         ${keeps ? `kept in ${keeps}` : 'in memory, gone when this stops'}

Buy a subscription, have its receipt validated, and read back what Alice owns:

  BOUGHT=$(curl -sS ${emulatorUrl}/control/purchases -d '{"platform":"store_a","productId":"premium","type":"paid subscription","applicationUsername":"alice"}')
  node -p 'JSON.stringify(JSON.parse(process.argv[1]).validate)' "$BOUGHT" | curl -sS -u ${app}:${publicKey} ${baseUrl}/v1/validate -d @-
  curl -sS -u ${app}:${secretKey} ${baseUrl}/v3/customers/alice/purchases

Ctrl-C stops everything.
`;
}
