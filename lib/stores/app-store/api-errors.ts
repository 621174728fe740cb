import { platformTokens } from '../../foundation/platform.ts';
import { createStoreErrors } from '../parse-response.ts';

export const { storeName, unavailableError, invalidSettingsError, parseResponse } = createStoreErrors(
  platformTokens.appStore,
);
