/** Values of `data.warning` in validation responses. */
export const warnings = {
  outage:
    'The App Store is unavailable. The result relies on the signed receipt alone and can miss later renewals and refunds.',
  fallback: 'The App Store Server API is unavailable. The deprecated verifyReceipt was used instead.',
  signatureOnly:
    'No App Store Server API key is set. The result relies on the signed receipt alone and can miss later renewals and refunds.',
  truncatedHistory: 'The purchase history is too long. The oldest transactions are missing.',
} as const;
