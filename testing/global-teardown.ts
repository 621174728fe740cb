/** Stops the DynamoDB Local of the test run. */
// biome-ignore lint/style/noDefaultExport: jest calls the default export.
export default async function tearDown(): Promise<void> {
  await globalThis.dynamoDbLocal?.close();
}
