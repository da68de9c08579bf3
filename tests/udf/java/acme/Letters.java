package acme;

import org.apache.flink.table.functions.TableFunction;

/** The letters of a text: rows of a plain value. */
public class Letters extends TableFunction<String> {
    public void eval(String text) {
        for (char letter : text.toCharArray()) {
            collect(String.valueOf(letter));
        }
    }
}
