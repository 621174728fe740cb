import { expect, test } from '@jest/globals';
import { toUserUuid } from '../user-uuid.ts';

test.each([
  ['user-42', '7631bc07-a1cc-3fcd-86e7-0fc6b2fb4a43'],
  ['alice@example.com', 'c160f8cc-69a4-30bf-8b03-62752353d060'],
  ['日本語', '00110af8-b439-3ef3-872c-50be5b332bec'],
  ['7E3FB20B-4CDB-47CC-936D-99D65F608138', '7e3fb20b-4cdb-47cc-936d-99d65f608138'],
])('toUserUuid converts %s to %s', (applicationUsername, uuid) => {
  expect(toUserUuid(applicationUsername)).toBe(uuid);
});
