require 'json'
require 'openssl'

TOLERANCE_SECONDS = 300
KEY = ENV.fetch('WEBHOOK_SECRET').delete_prefix('whsec_').unpack1('m')

def valid?(env, body)
  id, timestamp = env.values_at('HTTP_WEBHOOK_ID', 'HTTP_WEBHOOK_TIMESTAMP')
  return false unless timestamp&.match?(/\A\d{1,12}\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > TOLERANCE_SECONDS

  expected = 'v1,' + [OpenSSL::HMAC.digest('SHA256', KEY, "#{id}.#{timestamp}.#{body}")].pack('m0')
  env['HTTP_WEBHOOK_SIGNATURE'].to_s.split.any? { |received| OpenSSL.secure_compare(expected, received) }
end

def save(event)
  active = event['purchases'].values.reject { |purchase| purchase['isExpired'] }
  products = active.map { |purchase| purchase['productId'] }.join(',')
  $stdout.puts "#{event['applicationUsername']} #{event['notification']['reason']} #{products}"
  $stdout.flush
end

run(lambda do |env|
  body = env['rack.input'].read
  next [401, {}, []] unless valid?(env, body)

  event = JSON.parse(body)
  Thread.new { save(event) } if event['type'] == 'purchases.updated'
  [204, {}, []]
end)
