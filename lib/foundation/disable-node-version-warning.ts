/**
 * Disables the warning of the AWS SDK on Node 20. It concerns versions of the SDK from January 2027 on, and the version
 * is pinned. Import this file first: a client reads the variable when it is created.
 * @see https://github.com/aws/aws-sdk-js-v3/issues/7983
 */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
