import * as v from 'valibot';
import { defineContract } from './contract.ts';

/** Version of the interface specification that the service implements. */
export const apiVersion = '3.12.0';

export const getVersion = defineContract({
  id: 'get-version',
  area: 'service',
  summary: 'Get the name and version of the service',
  method: 'GET',
  path: '/v3',
  aliases: [],
  keyLevel: 'none',
  errorFormat: 'default',
  eventType: 'service.read',
  // Spec: not shown. Clients use newer endpoints only if the version is at least 3.12.0.
  response: v.strictObject({ ok: v.literal(true), name: v.string(), version: v.string() }),
  permissions: [],
});
