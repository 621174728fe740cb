/** Stops the DynamoDB Local of the test run and deletes its keys. */
// biome-ignore lint/style/noDefaultExport: jest calls the default export.
export default async function tearDown(): Promise<void> {
  await globalThis.dynamoDbLocal?.close();
  await globalThis.deleteRunKeys?.();
}
