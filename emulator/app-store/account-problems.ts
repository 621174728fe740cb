import type { EmulatedStore } from '../emulated-store.ts';
import { textResponse } from '../http-messages.ts';

/**
 * Problems of an account at Apple. Production rejects all API keys of an app that has never been released.
 *
 * @see https://github.com/apple/app-store-server-library-java/issues/92
 */
export const accountProblems: EmulatedStore['accountProblems'] = {
  unreleased: ({ host }) => (host === 'api.storekit.apple.com' ? textResponse(401, 'Unauthenticated\n') : undefined),
};
