/** Time zone of the gateway. Braintree's dates are days in this zone, and its API does not return it. */
export const gatewayTimeZone = 'America/Chicago';
