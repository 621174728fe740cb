import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receive {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] KEY =
        Base64.getDecoder().decode(System.getenv("WEBHOOK_SECRET").replaceFirst("^whsec_", ""));
    private static final long TOLERANCE_SECONDS = 300;

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", Receive::receive);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }

    private static void receive(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        boolean isValid = isValid(exchange, body);
        exchange.sendResponseHeaders(isValid ? 204 : 401, -1);
        exchange.close();
        if (!isValid) return;
        JsonNode event = JSON.readTree(body);
        if (event.path("type").asText().equals("purchases.updated")) save(event);
    }

    /** Returns false if the signature is invalid or too old. */
    private static boolean isValid(HttpExchange exchange, byte[] body) {
        String timestamp = header(exchange, "webhook-timestamp");
        if (!timestamp.matches("\\d{1,12}")) return false;
        long age = Instant.now().getEpochSecond() - Long.parseLong(timestamp);
        if (Math.abs(age) > TOLERANCE_SECONDS) return false;
        byte[] expected = sign(header(exchange, "webhook-id") + "." + timestamp + ".", body);
        for (String received : header(exchange, "webhook-signature").split(" "))
            if (MessageDigest.isEqual(expected, received.getBytes(StandardCharsets.UTF_8))) return true;
        return false;
    }

    private static byte[] sign(String prefix, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
            mac.update(prefix.getBytes(StandardCharsets.UTF_8));
            return ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static void save(JsonNode event) {
        var active = new ArrayList<String>();
        for (JsonNode purchase : event.path("purchases"))
            if (!purchase.path("isExpired").asBoolean()) active.add(purchase.path("productId").asText());
        String reason = event.path("notification").path("reason").asText();
        System.out.println(event.path("applicationUsername").asText() + " " + reason + " " + String.join(",", active));
    }
}
