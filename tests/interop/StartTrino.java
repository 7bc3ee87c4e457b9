/** Starts Trino. The archive of this version, with its own launcher, is not on Maven Central. */
public class StartTrino {
    public static void main(String[] arguments) throws Exception {
        Class<?> server = Class.forName("io.trino.server.Server");
        server.getMethod("start", String.class).invoke(server.getConstructor().newInstance(), "483");
    }
}
