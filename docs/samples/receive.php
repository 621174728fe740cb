<?php
const TOLERANCE_SECONDS = 300;

function verify(string $secret, array $server, string $body): bool
{
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $received) {
        if (hash_equals($expected, $received)) {
            return true;
        }
    }
    return false;
}

function save(array $event): void
{
    $active = array_filter($event['purchases'], fn ($purchase) => !($purchase['isExpired'] ?? false));
    $products = implode(',', array_column($active, 'productId'));
    file_put_contents('php://stdout', "{$event['applicationUsername']} {$event['notification']['reason']} $products\n");
}

$body = file_get_contents('php://input');
if (!verify(getenv('WEBHOOK_SECRET'), $_SERVER, $body)) {
    http_response_code(401);
    exit;
}
http_response_code(204);
if (function_exists('fastcgi_finish_request')) {
    fastcgi_finish_request();
}
$event = json_decode($body, true);
if ($event['type'] === 'purchases.updated') {
    save($event);
}
