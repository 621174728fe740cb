/**
 * Paths of the console, the documentation, the API document and its reference. They are not contracts: their responses
 * are files of the build.
 */
export const consoleRoute = {
  id: 'get-console',
  summary: 'Get the web console, the documentation, the API document or its reference',
  paths: ['/console', '/console/:proxy+', '/docs', '/docs/:proxy+', '/openapi.json', '/reference', '/llms.txt'],
  methods: ['GET'],
} as const;
